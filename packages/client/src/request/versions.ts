import { errorCodes, isJsonObject, protocolVersion, type RpcResponse } from '@x/schema'

/** The revision that one client writes its requests in. */
export interface VersionChoice {
  current(): string
  /** Takes the first of ours that the server has; keeps what it has when there is none. */
  prefer(supported: readonly unknown[]): boolean
}

/** Starts with the preferred revision and remembers the choice: no request relies on it, a wrong one is chosen anew. */
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

/** The revisions that the server serves, when that is why it refused (basic/versioning, protocol version negotiation). */
export function supportedVersions(response: RpcResponse): readonly unknown[] | undefined {
  if (!('error' in response) || response.error.code !== errorCodes.unsupportedProtocolVersion) return undefined
  const { data } = response.error
  return isJsonObject(data) && Array.isArray(data.supported) ? data.supported : []
}
