"""A moto server on the loopback address and any free port. Prints the port once it listens, and ends when its
standard input does."""

import sys
import threading

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server


class QuietHandler(WSGIRequestHandler):
    """Keeps connections open between requests and writes no line for each of them."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code="-", size="-"):
        pass


application = DomainDispatcherApplication(create_backend_app)
server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=QuietHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print("listening", server.server_port, flush=True)
sys.stdin.read()
