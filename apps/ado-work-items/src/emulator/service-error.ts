/** An error response of the service: a status, and a body that names the exception. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, typeKey: string, options: { message: string; customProperties?: unknown }) {
    super(options.message)
    this.status = status
    this.body = {
      ...(options.customProperties === undefined ? {} : { customProperties: options.customProperties }),
      innerException: null,
      message: options.message,
      typeName: `Microsoft.TeamFoundation.WorkItemTracking.Server.${typeKey}, Microsoft.TeamFoundation.WorkItemTracking.Server`,
      typeKey,
    }
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
  const errors = broken.map(({ referenceName, name, flags }) => ({
    fieldReferenceName: referenceName,
    fieldStatusFlags: flags,
    errorMessage: `TF401320: Rule Error for field ${name}. Error code: ${capitals(flags)}.`,
  }))
  const [first] = errors
  return new ServiceError(400, 'RuleValidationException', {
    message: first?.errorMessage ?? 'TF401320: Rule Error.',
    customProperties: {
      RuleValidationErrors: errors,
    },
  })
}

/** Creates the error for a work item that does not exist. */
export function noSuchWorkItem(id: number): ServiceError {
  return new ServiceError(404, 'WorkItemUnauthorizedAccessException', {
    message: `TF401232: Work item ${id} does not exist, or you do not have permissions to read it.`,
  })
}

function capitals(flags: string): string {
  return flags.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
}
