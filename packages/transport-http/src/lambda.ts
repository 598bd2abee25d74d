/**
 * Server side of the Streamable HTTP transport on AWS Lambda.
 *
 * @module @x/transport-http/lambda
 */

export { lambdaHandler, lambdaStream } from './lambda/lambda-handler.ts'
export type { LambdaHandler, LambdaOptions, LambdaStreamHandler } from './lambda/lambda-handler.ts'
export type { LambdaContext, LambdaEvent, LambdaResult } from './lambda/lambda-event.ts'
