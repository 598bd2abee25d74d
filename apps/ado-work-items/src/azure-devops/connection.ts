/** The address of Azure DevOps and the credentials. */
export interface Connection {
  /** The URL without the organization, such as `https://dev.azure.com`. */
  readonly baseUrl: string
  readonly organization: string
  readonly project: string
  /** The value of the `Authorization` header; a secret. */
  readonly authorization: string
}

/** Returns the `Authorization` header for a personal access token: Basic, with an empty user name. */
export function basicAuthorization(token: string): string {
  return `Basic ${Buffer.from(`:${token}`).toString('base64')}`
}
