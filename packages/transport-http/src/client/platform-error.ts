import { HttpError, isHttpError } from './http-error.ts'

// Raised before a connection exists, so before any byte of a request was written to one.
const unconnectedCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH'])
// An answer with fewer bytes than it has announced is none of them: its connection ended in the middle.
const malformedResponseCodes = new Set(['UND_ERR_HEADERS_OVERFLOW'])
// A certificate that is not believed: nothing was sent, and another try would end the same way.
const untrustedCodePattern = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_)/

/**
 * Returns true if an error of the platform proves that the server saw nothing of the request: the connection was
 * refused, the name was not found, or the socket closed before its first byte was written.
 */
export function isUnsent(error: unknown): boolean {
  const { code, syscall, errors, socket } = readErrorView(error)
  // Several addresses were tried: each of them must have failed in such a way.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(isUnsent)
  if (typeof code !== 'string') return false
  if (unconnectedCodes.has(code)) return true
  if (code === 'UND_ERR_SOCKET') return readErrorView(socket).bytesWritten === 0
  return syscall === 'connect'
}

/** Converts an error of the platform into a {@link HttpError}, with the error as its cause. */
export function toHttpError(error: unknown, origin: string): HttpError {
  if (isHttpError(error)) return error
  const { code } = readErrorView(error)
  const codeSuffix = typeof code === 'string' ? ` (${code})` : ''
  if (typeof code === 'string' && untrustedCodePattern.test(code))
    return new HttpError('certificate', `its certificate is not trusted${codeSuffix}`, {
      origin,
      cause: error,
    })
  if (isUnsent(error)) return new HttpError('connect', `no connection${codeSuffix}`, { origin, cause: error })
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new HttpError('timeout', 'no connection in time', { origin, cause: error })
  }
  if (typeof code === 'string' && (malformedResponseCodes.has(code) || code.startsWith('HPE_'))) {
    return new HttpError('protocol', `the answer is not valid HTTP${codeSuffix}`, { origin, cause: error })
  }
  return new HttpError('closed', `the connection ended before the answer${codeSuffix}`, {
    origin,
    cause: error,
  })
}

interface ErrorView {
  readonly code?: unknown
  readonly syscall?: unknown
  readonly errors?: unknown
  readonly socket?: unknown
  readonly bytesWritten?: unknown
}

// fetch puts the platform's error into the cause of a TypeError that says nothing.
function readErrorView(error: unknown): ErrorView {
  if (typeof error !== 'object' || error === null) return {}
  const innerError = error instanceof TypeError && typeof error.cause === 'object' ? error.cause : undefined
  return innerError ?? error
}
