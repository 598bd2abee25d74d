import { errorCodes, McpError } from '@x/schema'
import { AzureDevOpsError } from '../azure-devops/azure-devops-error.ts'

/** The error of the protocol that stands for a failure of Azure DevOps; any other error as it is. */
export function toProtocolError(error: unknown): unknown {
  if (!(error instanceof AzureDevOpsError)) return error
  const code = error.code === 'not_found' ? errorCodes.invalidParams : errorCodes.internal
  return new McpError(code, error.message, { cause: error })
}
