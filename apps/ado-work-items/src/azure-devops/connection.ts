/** The address of Azure DevOps and the credentials for it. */
export interface Connection {
  /** The service's address without the organization, such as `https://dev.azure.com`. */
  readonly baseUrl: string
  readonly organization: string
  readonly project: string
  /** The value of the `Authorization` header; a secret. */
  readonly authorization: string
}

/** The environment cannot be used as it is; the message says which variable to set. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

const required = ['AZURE_DEVOPS_ORG', 'AZURE_DEVOPS_PROJECT', 'AZURE_DEVOPS_TOKEN'] as const
const organizationName = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,48}[A-Za-z0-9])?$/

/**
 * The connection that the environment describes, or `undefined` when it describes none.
 * Throws {@link ConfigurationError} when it is incomplete.
 */
export function connectionFrom(environment: NodeJS.ProcessEnv): Connection | undefined {
  const missing = required.filter((name) => !environment[name])
  if (missing.length === required.length) return undefined
  if (missing.length > 0) {
    throw new ConfigurationError(
      `${missing.join(' and ')} must be set too: Azure DevOps needs ${required.join(', ')}. Unset all three to use the emulator.`,
    )
  }
  return {
    baseUrl: baseUrlOf(environment['AZURE_DEVOPS_URL']),
    organization: organizationOf(environment['AZURE_DEVOPS_ORG'] ?? ''),
    project: environment['AZURE_DEVOPS_PROJECT'] ?? '',
    authorization: basicAuthorization(environment['AZURE_DEVOPS_TOKEN'] ?? ''),
  }
}

/** The `Authorization` header for a personal access token: Basic, with an empty user name. */
export function basicAuthorization(token: string): string {
  return `Basic ${Buffer.from(`:${token}`).toString('base64')}`
}

function organizationOf(value: string): string {
  const name = value.replace(/^https:\/\/dev\.azure\.com\//i, '').replace(/\/$/, '')
  if (organizationName.test(name)) return name
  throw new ConfigurationError(
    `AZURE_DEVOPS_ORG is "${value}"; it should be the name in https://dev.azure.com/<name>, or that address`,
  )
}

function baseUrlOf(value: string | undefined): string {
  if (!value) return 'https://dev.azure.com'
  if (!URL.canParse(value)) {
    throw new ConfigurationError(
      `AZURE_DEVOPS_URL is "${value}"; it should be an address such as https://dev.azure.com`,
    )
  }
  return value.replace(/\/+$/, '')
}
