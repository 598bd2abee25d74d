import type { GatewayOptions } from '@x/gateway'
import { readServersFile } from '@x/gateway/node'

/** Reads the servers of a user, and denies a tool of one of them. */
export async function readWithRules(path: string): Promise<GatewayOptions['upstreams']> {
  const { crm, ...others } = await readServersFile(path, { name: 'my-host' })
  if (crm === undefined) return others
  return { ...others, crm: { ...crm, tools: { ...crm.tools, deny: ['drop'] } } }
}
