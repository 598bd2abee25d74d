import { errorCodes, isJsonObject, protocolVersion, type RpcResponse } from '@x/schema'

/** The protocol revision of one client's requests. */
export interface VersionChoice {
  current(): string
  /** Chooses the first revision that both sides have; keeps the current one when there is none. */
  prefer(serverVersions: readonly unknown[]): boolean
}

/** Starts with the preferred revision and remembers the choice. No request relies on it: a wrong one is chosen anew. */
export function createVersionChoice(clientVersions: readonly [string, ...string[]] = [protocolVersion]): VersionChoice {
  let [current] = clientVersions
  return {
    current: () => current,
    prefer: (serverVersions) => {
      const commonVersion = clientVersions.find((version) => serverVersions.includes(version))
      if (commonVersion === undefined) return false
      current = commonVersion
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
