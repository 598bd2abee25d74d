import { errorCodes, McpError } from '@x/schema'
import { AzureDevOpsError } from '../azure-devops/azure-devops-error.ts'

/** Converts a failure of Azure DevOps to a protocol error. Returns any other error unchanged. */
export function toProtocolError(error: unknown): unknown {
  if (!(error instanceof AzureDevOpsError)) return error
  const code = error.code === 'not_found' ? errorCodes.invalidParams : errorCodes.internal
  return new McpError(code, error.message, { cause: error })
}
