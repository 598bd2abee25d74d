import { lambdaStream } from '@x/transport-http/lambda'
import { createInstance } from './definition.mjs'
import { readEnvironment } from './environment.mjs'

const environment = readEnvironment()
const { allowedHosts } = environment.http

// A Function URL with the invoke mode RESPONSE_STREAM. `lambdaHandler` is for HTTP APIs, which send a response as a whole.
export const handler = lambdaStream(createInstance(environment, { subscriptions: false }), { allowedHosts })
