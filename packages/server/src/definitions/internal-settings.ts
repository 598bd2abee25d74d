/** Values of a server that are constants for its users. The tests of this repository give others. */
export interface InternalSettings {
  readonly pageSize?: number
  readonly maxNotificationsPerSecond?: number
  readonly slowReaderTimeoutMs?: number
  readonly maxStoredResultCharacters?: number
}

/** A registered symbol, so that two copies of the package have the same. Checks of unknown options do not see it. */
const internalSettingsKey = Symbol.for('@x/server.internalSettings')

/**
 * Returns a part of a definition that replaces constants of its server.
 *
 * @example
 * createServer({ ...definition, ...internalSettings({ pageSize: 2 }) })
 */
export function internalSettings(settings: InternalSettings): object {
  return { [internalSettingsKey]: settings }
}

/** Returns the settings that a definition carries. */
export function readInternalSettings(definition: object): InternalSettings {
  return (Reflect.get(definition, internalSettingsKey) as InternalSettings | undefined) ?? {}
}
