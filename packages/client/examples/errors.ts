import { type Client, isClientError, isResourceNotFound } from '@x/client'
import type { ReadResourceResult } from '@x/schema'

/** Reads a resource. Resolves with undefined if it does not exist. */
export async function readIfThere(client: Client, uri: string): Promise<ReadResourceResult | undefined> {
  try {
    return await client.readResource(uri, { signal: AbortSignal.timeout(5000) })
  } catch (error) {
    if (isResourceNotFound(error)) return undefined
    if (isClientError(error) && error.code === 'rpc') console.error('The server says:', error.rpc)
    throw error
  }
}
