/** An error response of the service: a status, and a body that names the exception. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, typeKey: string, message: string, customProperties?: unknown) {
    super(message)
    this.status = status
    this.body = { customProperties, message, typeKey }
  }
}

/** A field that violates a rule, with the service's flags for the violation, such as `required, invalidEmpty`. */
export interface BrokenField {
  readonly referenceName: string
  readonly name: string
  readonly flags: string
}

/** Creates the error for a change that violates rules of the process. `broken` must have at least one entry. */
export function ruleViolation(broken: readonly BrokenField[]): ServiceError {
  const errors = broken.map(({ referenceName, name, flags }) => {
    const code = flags.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
    const errorMessage = `TF401320: Rule Error for field ${name}. Error code: ${code}.`
    return { fieldReferenceName: referenceName, errorMessage }
  })
  const message = errors[0]?.errorMessage ?? 'TF401320: Rule Error.'
  return new ServiceError(400, 'RuleValidationException', message, { RuleValidationErrors: errors })
}

/** Creates the error for a request that the service cannot use. */
export function invalid(message: string): ServiceError {
  return new ServiceError(400, 'VssPropertyValidationException', message)
}
