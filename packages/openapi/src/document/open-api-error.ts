/** What failed: the document is none, an operation cannot be a tool, or an option has an invalid value. */
export type OpenApiErrorCode = 'document' | 'operation' | 'option'

/** No tools can be made of a document, an operation or an option. */
export class OpenApiError extends Error {
  override readonly name = 'OpenApiError'
  readonly code: OpenApiErrorCode

  constructor(code: OpenApiErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** True for an {@link OpenApiError}, also one of another copy of this package. */
export function isOpenApiError(error: unknown): error is OpenApiError {
  return error instanceof Error && error.name === 'OpenApiError' && 'code' in error
}

/** Ends the planning of one operation. The reason continues a sentence whose subject is the operation. */
export function refuseOperation(reason: string): never {
  throw new OpenApiError('operation', reason)
}
