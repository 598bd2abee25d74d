import { errorCodes, isJsonObject, protocolVersion, type RpcResponse } from '@x/schema'

/** The protocol revision of one client's requests. */
export interface VersionChoice {
  current(): string
  /** Chooses the first revision that both sides have; keeps the current one when there is none. */
  prefer(supported: readonly unknown[]): boolean
}

/** Starts with the preferred revision and remembers the choice. No request relies on it: a wrong one is chosen anew. */
export function createVersionChoice(ours: readonly [string, ...string[]] = [protocolVersion]): VersionChoice {
  let [current] = ours
  return {
    current: () => current,
    prefer: (supported) => {
      const common = ours.find((version) => supported.includes(version))
      if (common === undefined) return false
      current = common
      return true
    },
  }
}

/**
 * Returns the revisions that the server serves, if it rejected the request for its revision (basic/versioning, protocol
 * version negotiation).
 */
export function supportedVersions(response: RpcResponse): readonly unknown[] | undefined {
  if (!('error' in response) || response.error.code !== errorCodes.unsupportedProtocolVersion) return undefined
  const { data } = response.error
  return isJsonObject(data) && Array.isArray(data.supported) ? data.supported : []
}
