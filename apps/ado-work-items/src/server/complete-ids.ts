import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { toProtocolError } from './protocol-error.ts'

/** The maximum number of completions; the protocol allows 100 values. */
const maxIds = 100

/** Finds the ids that begin with the typed text, the most recently changed work items first. */
export async function completeIds(typed: string, azureDevOps: AzureDevOps, signal: AbortSignal): Promise<string[]> {
  if (!/^(?:[1-9]\d{0,9})?$/.test(typed)) return []
  const filters = typed === '' ? {} : { idPrefix: typed }
  const { workItems } = await azureDevOps.findWorkItems({ filters, top: maxIds }, signal).catch((error) => {
    throw toProtocolError(error)
  })
  return workItems.map((item) => String(item.id))
}
