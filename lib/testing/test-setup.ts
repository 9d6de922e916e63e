import { installLambdaRuntime } from "../../localstack/lambda-runtime.ts";

// Test files share their process, and a handler is created when its file is loaded: as in Lambda, all can stream.
installLambdaRuntime();
