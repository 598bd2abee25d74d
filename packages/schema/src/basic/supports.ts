import type { ClientCapabilities } from './capabilities.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

/**
 * Returns the required capabilities that a client did not declare, in the form of `data.requiredCapabilities`;
 * `undefined` when all are declared. `elicitation: {}` declares, and requires, the form mode (client/elicitation,
 * capabilities).
 */
export function supports(capabilities: ClientCapabilities, needed: ClientCapabilities): ClientCapabilities | undefined {
  return missingSettings(withFormMode(capabilities), withFormMode(needed))
}

function withFormMode(capabilities: ClientCapabilities): JsonObject {
  const { elicitation } = capabilities
  if (elicitation === undefined || elicitation.form !== undefined || elicitation.url !== undefined) return capabilities
  return { ...capabilities, elicitation: { ...elicitation, form: {} } }
}

function missingSettings(declared: JsonObject, needed: JsonObject): JsonObject | undefined {
  const lacks: [string, JsonValue][] = []
  for (const [key, value] of Object.entries(needed)) {
    if (value === undefined) continue
    const has = Object.hasOwn(declared, key) ? declared[key] : undefined
    const missing = isJsonObject(value) && isJsonObject(has) ? missingSettings(has, value) : unlike(has, value)
    if (missing !== undefined) lacks.push([key, missing])
  }
  // fromEntries defines members, so that a key such as __proto__ stays a key.
  return lacks.length === 0 ? undefined : Object.fromEntries(lacks)
}

/** A setting that is not an object is declared when it is identical. */
function unlike(has: JsonValue | undefined, value: JsonValue): JsonValue | undefined {
  return JSON.stringify(has) === JSON.stringify(value) ? undefined : value
}
