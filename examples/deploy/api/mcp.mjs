import { httpHandler } from '@x/transport-http'
import { createInstance } from '../definition.mjs'
import { readEnvironment } from '../environment.mjs'

const environment = readEnvironment()
const { allowedHosts } = environment.http
const handle = httpHandler(createInstance(environment, { subscriptions: false }), { allowedHosts })

// A Vercel Function. A call that is longer than this limit, in seconds, is stopped and fails.
export const maxDuration = 300
export const GET = (request) => handle(request)
export const POST = (request) => handle(request)
export const DELETE = (request) => handle(request)
export const OPTIONS = (request) => handle(request)
