import * as z from 'zod'
import { AzureDevOpsError } from './azure-devops-error.ts'

/** A complete response of the service. */
export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly retryAfter: string | undefined
  readonly text: string
}

const serviceError = z.object({
  message: z.string().catch(''),
  typeKey: z.string().catch(''),
  customProperties: z
    .object({
      RuleValidationErrors: z
        .array(z.object({ fieldReferenceName: z.string(), errorMessage: z.string().catch('') }))
        .catch([]),
    })
    .catch({ RuleValidationErrors: [] }),
})
type ServiceError = z.infer<typeof serviceError>

const signInAdvice =
  'Set AZURE_DEVOPS_TOKEN to a personal access token that has not expired and has the scope Work Items (read & write).'

/** Returns the error of a failed response, or `undefined` for a successful one. */
export function failureOf(answer: Answer): AzureDevOpsError | undefined {
  // Without a valid token the service may respond with its sign-in page as 200 or 203, or redirect to it, instead of
  // 401.
  if (answer.status === 203 || isRedirect(answer.status) || (answer.status === 200 && isHtml(answer))) {
    return new AzureDevOpsError('unauthorized', `Azure DevOps answered with its sign-in page. ${signInAdvice}`)
  }
  if (answer.status < 300) return undefined
  return errorOf(answer.status, parseServiceError(answer.text))
}

function errorOf(status: number, error: ServiceError): AzureDevOpsError {
  const serviceMessage = formatServiceMessage(error)
  switch (status) {
    case 400:
      return badRequest(error, serviceMessage)
    case 401:
      return new AzureDevOpsError('unauthorized', `Azure DevOps rejected the access token (401). ${signInAdvice}`)
    case 403:
      return new AzureDevOpsError('forbidden', `The access token is not allowed to do this (403).${serviceMessage}`)
    case 404:
      return new AzureDevOpsError('not_found', error.message || 'Azure DevOps does not know this address (404).')
    case 409:
    case 412:
      return new AzureDevOpsError(
        'conflict',
        `Another user changed the work item in the meantime (${status}).${serviceMessage}`,
      )
    default:
      return isTransient(status)
        ? new AzureDevOpsError('unavailable', `Azure DevOps is not available now (${status}); try again later.`)
        : new AzureDevOpsError('invalid', `Azure DevOps rejected the request (${status}).${serviceMessage}`)
  }
}

/** Returns true if the same request may succeed later. */
function isTransient(status: number): boolean {
  return status === 429 || status >= 500
}

function badRequest(error: ServiceError, serviceMessage: string): AzureDevOpsError {
  const violations = error.customProperties.RuleValidationErrors.map((entry) => ({
    field: entry.fieldReferenceName,
    message: entry.errorMessage || error.message,
  }))
  if (violations.length > 0 || error.typeKey === 'RuleValidationException') {
    return new AzureDevOpsError('rule', `A rule of the process rejected the change.${serviceMessage}`, { violations })
  }
  return new AzureDevOpsError('invalid', `Azure DevOps rejected the request (400).${serviceMessage}`)
}

function formatServiceMessage({ message }: ServiceError): string {
  return message === '' ? '' : ` Its message: ${message}`
}

function parseServiceError(text: string): ServiceError {
  try {
    return serviceError.parse(JSON.parse(text))
  } catch {
    return { message: '', typeKey: '', customProperties: { RuleValidationErrors: [] } }
  }
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}

function isHtml(answer: Answer): boolean {
  return answer.contentType.includes('text/html')
}
