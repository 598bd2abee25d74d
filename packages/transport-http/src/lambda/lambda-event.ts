/**
 * A request in the payload format 2.0 of Function URLs and of HTTP APIs of the API Gateway
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html).
 */
export interface LambdaEvent {
  readonly rawPath: string
  readonly rawQueryString?: string | undefined
  readonly cookies?: readonly string[] | undefined
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly requestContext: {
    readonly domainName: string
    readonly http: { readonly method: string; readonly sourceIp?: string | undefined }
  }
  readonly body?: string | undefined
  readonly isBase64Encoded?: boolean | undefined
}

/** What the handlers use of the invocation's context. */
export interface LambdaContext {
  /** Milliseconds until Lambda stops the invocation. */
  getRemainingTimeInMillis(): number
}

/** A response in the payload format 2.0. */
export interface LambdaResult {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Converts an event to a web request. Undefined if its host, method or headers are none of a web request. Throws
 * `TypeError` for an event of another format.
 */
export function toWebRequest(event: LambdaEvent, signal: AbortSignal): Request | undefined {
  if (typeof event.rawPath !== 'string' || event.requestContext?.http === undefined) {
    const rule = 'invoke the function by a Function URL or an HTTP API with the payload format 2.0'
    throw new TypeError(`The event is not an HTTP request of the payload format 2.0: ${rule}`)
  }
  try {
    return createRequest(event, signal)
  } catch {
    // A client sent them, so it gets an answer, and the invocation is no failure of the function.
    return undefined
  }
}

function createRequest(event: LambdaEvent, signal: AbortSignal): Request {
  const { rawPath, rawQueryString, headers, requestContext, body, isBase64Encoded } = event
  const { domainName, http } = requestContext
  const query = rawQueryString === undefined || rawQueryString === '' ? '' : `?${rawQueryString}`
  return new Request(`https://${headers['host'] ?? domainName}${rawPath}${query}`, {
    method: http.method,
    headers: toHeaders(event),
    signal,
    ...(body !== undefined &&
      http.method !== 'GET' &&
      http.method !== 'HEAD' && { body: decodeBody(body, isBase64Encoded) }),
  })
}

function toHeaders({ headers, cookies }: LambdaEvent): Headers {
  const webHeaders = new Headers()
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) webHeaders.set(name, value)
  if (cookies !== undefined && cookies.length > 0) webHeaders.set('cookie', cookies.join('; '))
  return webHeaders
}

function decodeBody(body: string, isBase64Encoded: boolean | undefined): string | Uint8Array<ArrayBuffer> {
  return isBase64Encoded === true ? new Uint8Array(Buffer.from(body, 'base64')) : body
}
