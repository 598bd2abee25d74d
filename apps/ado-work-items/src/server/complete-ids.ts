import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { toProtocolError } from './protocol-error.ts'

/** The number of offered ids; the protocol allows a hundred. */
const maxIds = 100

/** The ids of work items that begin with what was typed, the last changed first. */
export async function completeIds(typed: string, azureDevOps: AzureDevOps, signal: AbortSignal): Promise<string[]> {
  if (!/^(?:[1-9]\d{0,9})?$/.test(typed)) return []
  const filters = typed === '' ? {} : { idPrefix: typed }
  const { workItems } = await azureDevOps.findWorkItems({ filters, top: maxIds }, signal).catch((error) => {
    throw toProtocolError(error)
  })
  return workItems.map((item) => String(item.id))
}
