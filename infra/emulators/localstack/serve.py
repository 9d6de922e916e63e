"""LocalStack on the loopback address and any free port. Its tables are those of the DynamoDB Local that listens at
the port named by the first argument. Prints the port once it is ready, and ends when its standard input does; what
it kept is gone then."""

import os
import shutil
import socket
import sys
import tempfile
import threading


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def tell_and_wait() -> None:
    events.infra_ready.wait()
    print("listening", port, flush=True)
    sys.stdin.read()
    shutil.rmtree(home, ignore_errors=True)
    os._exit(0)


port = free_port()
home = tempfile.mkdtemp(prefix="weft-localstack-")
# Meant for the clients of emulators, and LocalStack is a client too: of itself.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(
    SERVICES="dynamodb,events,s3,sqs",
    GATEWAY_LISTEN=f"127.0.0.1:{port}",
    # The other server listens on every address, whatever it is told.
    GATEWAY_SERVER="hypercorn",
    FILESYSTEM_ROOT=home,
    LOCALSTACK_VOLUME_DIR=home,
    DYNAMODB_LOCAL_PORT=sys.argv[1],
    OVERRIDE_IN_DOCKER="0",
    # The first request of a test would else wait for the services.
    EAGER_SERVICE_LOADING="1",
    # Nothing is told to LocalStack's makers, nothing downloaded, no name resolved for others.
    DISABLE_EVENTS="1",
    SKIP_SSL_CERT_DOWNLOAD="1",
    DNS_ADDRESS="0",
)

# Read the settings when they are imported.
from localstack.runtime import events, main  # noqa: E402
from localstack.services.dynamodb.server import DynamodbServer  # noqa: E402

# LocalStack would download a Java and the same jar, from where not every machine gets to.
DynamodbServer.start_dynamodb = lambda self: True

threading.Thread(target=tell_and_wait, daemon=True).start()
try:
    main.main()
finally:
    shutil.rmtree(home, ignore_errors=True)
