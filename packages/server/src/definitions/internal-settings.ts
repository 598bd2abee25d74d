/** Values of a server that are constants for its users. The tests of this repository replace them. */
export interface InternalSettings {
  readonly pageSize?: number
  readonly maxNotificationsPerSecond?: number
  readonly slowReaderTimeoutMs?: number
  readonly maxStoredResultCharacters?: number
}

/**
 * A registered symbol, which is the same in two copies of the package. The check for unknown options ignores symbols.
 */
const internalSettingsKey = Symbol.for('@x/server.internalSettings')

/**
 * Returns members for a definition that replace constants of its server.
 *
 * @example
 * createServer({ ...definition, ...internalSettings({ pageSize: 2 }) })
 */
export function internalSettings(settings: InternalSettings): object {
  return { [internalSettingsKey]: settings }
}

/** Returns the internal settings in a definition. */
export function readInternalSettings(definition: object): InternalSettings {
  return (Reflect.get(definition, internalSettingsKey) as InternalSettings | undefined) ?? {}
}
