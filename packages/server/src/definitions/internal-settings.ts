/** Constants for a server's users, which the tests of this repository replace. */
export interface InternalSettings {
  readonly pageSize?: number
  readonly maxNotificationsPerSecond?: number
  readonly slowReaderTimeoutMs?: number
  readonly maxStoredResultCharacters?: number
}

/** A registered symbol is the same in two copies of the package, and the check for unknown options ignores symbols. */
const internalSettingsKey = Symbol.for('@x/server.internalSettings')

/**
 * Members for a definition that replace constants of its server.
 *
 * @example
 * createServer({ ...definition, ...internalSettings({ pageSize: 2 }) })
 */
export function internalSettings(settings: InternalSettings): object {
  return { [internalSettingsKey]: settings }
}

export function readInternalSettings(definition: object): InternalSettings {
  return (Reflect.get(definition, internalSettingsKey) as InternalSettings | undefined) ?? {}
}
