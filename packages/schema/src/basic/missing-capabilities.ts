import type { ClientCapabilities } from './capabilities.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'

/**
 * Finds needed capabilities that a client did not declare, in the form of `data.requiredCapabilities`. `undefined` if
 * all are declared. `elicitation: {}` means the form mode in both arguments (client/elicitation, capabilities).
 */
export function findMissingCapabilities(
  capabilities: ClientCapabilities,
  neededSettings: ClientCapabilities,
): ClientCapabilities | undefined {
  return findMissingSettings(withElicitationForm(capabilities), withElicitationForm(neededSettings))
}

/** Names of capabilities with their modes, such as `elicitation.form`, for a message. */
export function capabilityNamesOf(capabilities: JsonObject): readonly string[] {
  return Object.entries(capabilities).flatMap(([name, value]) => {
    const innerNames = isJsonObject(value) ? Object.keys(value) : []
    return innerNames.length === 0 ? [name] : innerNames.map((key) => `${name}.${key}`)
  })
}

function withElicitationForm(capabilities: ClientCapabilities): JsonObject {
  const { elicitation } = capabilities
  if (elicitation === undefined || elicitation.form !== undefined || elicitation.url !== undefined) return capabilities
  return { ...capabilities, elicitation: { ...elicitation, form: {} } }
}

function findMissingSettings(declaredSettings: JsonObject, neededSettings: JsonObject): JsonObject | undefined {
  const missingEntries: [string, JsonValue][] = []
  for (const [key, value] of Object.entries(neededSettings)) {
    if (value === undefined) continue
    const declaredValue = Object.hasOwn(declaredSettings, key) ? declaredSettings[key] : undefined
    const missingValue =
      isJsonObject(value) && isJsonObject(declaredValue)
        ? findMissingSettings(declaredValue, value)
        : findMissingValue(declaredValue, value)
    if (missingValue !== undefined) missingEntries.push([key, missingValue])
  }
  // `Object.fromEntries` defines own members, so that a key such as `__proto__` is one like any other.
  return missingEntries.length === 0 ? undefined : Object.fromEntries(missingEntries)
}

function findMissingValue(declaredValue: JsonValue | undefined, value: JsonValue): JsonValue | undefined {
  return JSON.stringify(declaredValue) === JSON.stringify(value) ? undefined : value
}
