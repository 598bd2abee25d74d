import {
  isThisMachine,
  type JsonValue,
  maxTimerMs,
  type OptionTable,
  quoteText,
  type ResolvedOptions,
  resolveOptions,
} from '@x/core'
import type { HttpAuthorizer, Log, Principal } from '@x/exchange'
import type { ToolAnnotations } from '@x/schema'
import type { Awaitable, TaskChoice, VisibleTo } from '@x/server'
import { OpenApiError } from '../document/open-api-error.ts'

/** An operation of a document. Its texts are those of the document, as a model may read them. */
export interface OpenApiOperation {
  /** HTTP method, in upper case. */
  readonly method: string
  /** As the document writes it, such as `/orders/{id}`. */
  readonly path: string
  readonly operationId: string | undefined
  readonly summary: string
  readonly tags: readonly string[]
  readonly isDeprecated: boolean
}

/** A caller's credential at the API, or the page at which the caller gets one. */
export type ApiCredential = HttpAuthorizer | { readonly loginUrl: string }

/** Options of {@link openApiTools}. */
export interface OpenApiOptions {
  /**
   * Address of the API: `https:`, or `http:` on this machine. Paths of the document are appended. The document's
   * `servers` are never used, because an editor of the document must not decide where a token goes.
   */
  readonly url: string
  /**
   * Operations that become tools: an `operationId` or `METHOD /path` each, or a function. Default: all that are not
   * deprecated.
   */
  readonly operations?: readonly string[] | ((operation: OpenApiOperation) => boolean) | undefined
  /** Credential of all callers, or a function that finds that of each, as in a gateway. Default: none. */
  readonly credential?: HttpAuthorizer | ((principal: Principal | undefined) => Awaitable<ApiCredential>) | undefined
  /** Headers of each request, such as a key. They appear in no message, question or log. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Parameters in the query of each request, such as the version of the API. They appear nowhere else either. */
  readonly query?: Readonly<Record<string, string>> | undefined
  /** Decides whether the user is asked before the request. Default: for `DELETE`. */
  readonly confirm?: ((operation: OpenApiOperation) => boolean) | undefined
  /**
   * What happens to a call that must be confirmed, from a host that cannot show forms: `refuse` sends nothing, `call`
   * sends the request. Default: `refuse`.
   */
  readonly withoutForms?: 'refuse' | 'call' | undefined
  /**
   * Header that receives a key with each request that writes. The key is the same when the request is repeated, so that
   * an API that honours it has one effect. Default: none.
   */
  readonly idempotencyHeader?: string | undefined
  /** Decides whether calls run as tasks. Default: never. */
  readonly task?: ((operation: OpenApiOperation) => TaskChoice) | undefined
  /**
   * Decides whether a tool declares the schema of its response. A response that breaks it is an error for the model, and
   * documents are often wrong about responses. Default: never.
   */
  readonly output?: ((operation: OpenApiOperation) => boolean) | undefined
  /** Name of a tool. Default: the `operationId`, or the method and path, with at most 50 characters. */
  readonly name?: ((operation: OpenApiOperation) => string) | undefined
  /** Take the place of hints that follow from the method. */
  readonly annotations?: ((operation: OpenApiOperation) => ToolAnnotations) | undefined
  /** Callers who may see and use a tool. Default: all. */
  readonly visibleTo?: ((operation: OpenApiOperation) => VisibleTo | undefined) | undefined
  /** Changes the JSON of a response, for example to drop what a model does not need. */
  readonly transform?: ((value: JsonValue, operation: OpenApiOperation) => JsonValue) | undefined
  /** Milliseconds that the API has for a response. Default: 30,000. */
  readonly timeoutMs?: number | undefined
  /** Bytes that are read of a response. The rest of a longer one is not read. Default: 200,000. */
  readonly maxResponseBytes?: number | undefined
  /**
   * Characters that the schema of arguments may have. A longer one is loosened: descriptions go first, then what is
   * deepest. Default: 16,000.
   */
  readonly maxSchemaCharacters?: number | undefined
  /** Sends the requests. Default: the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Gets the operations that cannot be tools, and the failures of the API. Default: the standard error. */
  readonly log?: Log | undefined
}

const optionTable = {
  url: undefined,
  operations: undefined,
  credential: undefined,
  headers: undefined,
  query: undefined,
  confirm: undefined,
  withoutForms: {
    default: 'refuse',
    type: { name: "'refuse' or 'call'", accepts: (value: unknown) => value === 'refuse' || value === 'call' },
  },
  idempotencyHeader: undefined,
  task: undefined,
  output: undefined,
  name: undefined,
  annotations: undefined,
  visibleTo: undefined,
  transform: undefined,
  // limit: ms | a response of an API | the model gets an error
  timeoutMs: { default: 30_000, max: maxTimerMs },
  // limit: bytes | a response of an API | the model gets an error. The rest is not read
  maxResponseBytes: 200_000,
  // limit: characters | the schema of the arguments of a tool | descriptions, and what is deepest, are left out
  maxSchemaCharacters: 16_000,
  fetch: undefined,
  log: undefined,
} satisfies OptionTable<OpenApiOptions>

export type OpenApiSettings = ResolvedOptions<OpenApiOptions, typeof optionTable> & {
  readonly confirm: (operation: OpenApiOperation) => boolean
}

/**
 * @throws TypeError for an unknown option, a RangeError for a limit that is no whole number from 1, and an OpenApiError
 * for a header that cannot be sent.
 */
export function resolveApiOptions(options: OpenApiOptions, where: string): OpenApiSettings {
  const settings = resolveOptions(options, optionTable, where)
  const { idempotencyHeader, headers = {} } = settings
  if (idempotencyHeader !== undefined) checkHeader('idempotencyHeader', idempotencyHeader, '')
  for (const [name, value] of Object.entries(headers)) checkHeader('headers', name, value)
  return { ...settings, confirm: settings.confirm ?? (({ method }) => method === 'DELETE') }
}

/** The message leaves out the value, which may be a key. */
function checkHeader(option: string, name: string, value: string): void {
  if (isHeader(name, value)) return
  const rule = isHeader(name, '')
    ? 'a value without line breaks, of characters up to U+00FF'
    : 'a name of letters, digits and hyphens'
  throw new OpenApiError('option', `${option} has ${quoteText(name)}, which cannot be sent: a header must have ${rule}`)
}

function isHeader(name: string, value: string): boolean {
  try {
    return new Headers([[name, value]]).has(name)
  } catch {
    return false
  }
}

/** Without the last `/`. @throws OpenApiError for an address that must not be used. */
export function parseApiUrl(text: string): string {
  const url = URL.canParse(text) && !/[?#@]/.test(text) ? new URL(text) : undefined
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname))
  if (url !== undefined && isAllowed) return url.href.replace(/\/$/, '')
  const rule = 'https:, or http: on this machine, without a user, a query and a fragment'
  throw new OpenApiError('option', `url must be the address of the API: ${rule}`)
}
