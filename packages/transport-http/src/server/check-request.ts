import { errorCodes, protocolVersion } from '@x/schema'
import { corsHeaders, preflight } from './cors.ts'
import { documentAnswer } from './documents.ts'
import { hostAllowed, parseHost } from './hosts.ts'
import { acceptsBoth, isJsonMediaType } from './media-types.ts'
import { originAllowed } from './origins.ts'
import type { Answer } from './response-writer.ts'
import { errorAnswer } from './http-error-response.ts'
import type { HttpErrorResponse } from './http-error-response.ts'
import type { RequestView } from './request-view.ts'
import type { HandlerSettings } from './settings.ts'

/** Either the answer that ends the request here, or the headers, flat, that every answer to it carries. */
export type Admission = { readonly answer: Answer } | { readonly headers: readonly string[] }

const plainText: Admission = { headers: [] }

/** Checks what can be checked before the body is read: host, origin, method and media types. `methods` are allowed beside POST. */
export function checkRequest<Source>(
  view: RequestView<Source>,
  settings: HandlerSettings<Source>,
  methods: readonly string[] = [],
): Admission {
  const document = view.method === 'POST' ? undefined : documentAnswer(settings.documents, view)
  if (document !== undefined) return { answer: document }
  const foreign = rejectForeign(view, settings)
  if (foreign !== undefined) return { answer: errorAnswer(foreign, []) }
  const origin = view.header('origin')
  const { cors } = settings
  if (cors === undefined || origin === undefined) {
    const rejection = rejectForm(view, methods)
    return rejection === undefined ? plainText : { answer: errorAnswer(rejection, []) }
  }
  if (view.method === 'OPTIONS') return { answer: preflight(cors, origin, view) }
  const headers = corsHeaders(cors, origin)
  const rejection = rejectForm(view, methods)
  return rejection === undefined ? { headers } : { answer: errorAnswer(rejection, headers) }
}

// basic/transports/streamable-http, security: a page that rebinds its own name to this machine's address shows in the
// Host, any other foreign page in the Origin. The operator sees which one it was, the peer only the option.
function rejectForeign<Source>(
  view: RequestView<Source>,
  settings: HandlerSettings<Source>,
): HttpErrorResponse | undefined {
  const reject = (status: number, message: string, reason: string): HttpErrorResponse => {
    settings.reportRejection(`A request was rejected with status ${status}: ${reason}`, view)
    return { status, message }
  }
  const header = view.header('host')
  // RFC 9112, 3.2: readers of two hosts take different ones. Where values are joined, a comma shows that there were two.
  if (view.headerValues('host').length > 1 || header?.includes(',') === true) {
    const hosts = view.headerValues('host').join(', ')
    return reject(400, 'A request has one Host', `it has more than one Host, ${quoted(hosts)}`)
  }
  const host = header === undefined ? undefined : parseHost(header)
  if (host === undefined || !hostAllowed(host, settings.hosts)) {
    const message = 'The Host is not one that is served here: it has to be in allowedHosts'
    return reject(403, message, `its Host ${quoted(header)} is not in allowedHosts`)
  }
  const origin = view.header('origin')
  if (origin === undefined || originAllowed(origin, host, settings)) return undefined
  const message = 'The Origin is not one that may call here: it has to be in allowedOrigins'
  return reject(
    403,
    message,
    `its Origin ${quoted(origin)} is not in allowedOrigins, and its Host is ${quoted(header)}`,
  )
}

/** A header's value for a log: quoted, and never long. */
function quoted(value: string | undefined): string {
  return JSON.stringify((value ?? '').slice(0, 200))
}

/**
 * Rejects an HTTP method. Clients of earlier revisions send GET and DELETE, and some show their users nothing but this message
 * (basic/versioning, compatibility).
 */
export function notPost({ method, header }: RequestView, allowed: readonly string[]): HttpErrorResponse {
  const answer = { status: 405, headers: { Allow: allowed.join(', ') } }
  const requested = header('mcp-protocol-version')
  if (allowed.length > 1 || !olderMethods.has(method) || requested === protocolVersion)
    return { ...answer, message: `${method} is not served here: send a POST` }
  const opened = requested === undefined ? '' : `; the client opened with ${requested.slice(0, 100)}`
  return {
    ...answer,
    code: errorCodes.unsupportedProtocolVersion,
    message: `${method} is not served here: this server speaks only MCP ${protocolVersion}${opened}`,
    data: { supported: [protocolVersion], ...(requested !== undefined && { requested }) },
  }
}

const olderMethods: ReadonlySet<string> = new Set(['GET', 'DELETE'])

function rejectForm(view: RequestView, methods: readonly string[]): HttpErrorResponse | undefined {
  if (methods.includes(view.method)) return undefined
  if (view.method !== 'POST') return notPost(view, ['POST', ...methods])
  if (!isJsonMediaType(view.header('content-type'))) {
    return { status: 415, message: 'The Content-Type has to be application/json' }
  }
  const encoding = view.header('content-encoding')
  if (encoding !== undefined && encoding !== 'identity') {
    return { status: 415, message: 'The body has to come without a Content-Encoding' }
  }
  if (acceptsBoth(view.header('accept'))) return undefined
  return { status: 406, message: 'The Accept has to allow application/json and text/event-stream' }
}
