#!/usr/bin/env bash
# LocalStack runs this in its container once it is ready. A deployed stack reads the owner's access token from the
# parameter store: this makes a token, once. Tables, queues and rules are made by whoever uses them.
set -euo pipefail

parameter=${WEFT_ACCESS_TOKEN_PARAMETER:-/weft/access-token}

if awslocal ssm get-parameter --name "$parameter" >/dev/null 2>&1; then
  exit 0
fi
token=$(head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=\n')
awslocal ssm put-parameter --name "$parameter" --type SecureString --value "$token" >/dev/null
echo "made the access token $parameter"
