/** Starts an authorization server for one resource. */
export function startIssuer(options: {
  readonly port: number
  readonly resource: string
  readonly scope: string
  readonly users?: readonly string[]
}): Promise<{ readonly issuer: string; close(): void }>
