import * as z from 'zod'
import type { CapabilitySettings, ClientCapabilities, ListCapability, ServerCapabilities } from './capabilities.ts'
import { jsonObject } from './json.zod.ts'

const settings: z.ZodType<CapabilitySettings> = z.record(z.string(), jsonObject)

/** Validates {@link ClientCapabilities}. */
export const clientCapabilities: z.ZodType<ClientCapabilities> = z.looseObject({
  elicitation: z.looseObject({ form: jsonObject.optional(), url: jsonObject.optional() }).optional(),
  experimental: settings.optional(),
  extensions: settings.optional(),
  roots: jsonObject.optional(),
  sampling: z.looseObject({ context: jsonObject.optional(), tools: jsonObject.optional() }).optional(),
})

const list: z.ZodType<ListCapability> = z.looseObject({ listChanged: z.boolean().optional() })

/** Validates {@link ServerCapabilities}. */
export const serverCapabilities: z.ZodType<ServerCapabilities> = z.looseObject({
  completions: jsonObject.optional(),
  experimental: settings.optional(),
  extensions: settings.optional(),
  logging: jsonObject.optional(),
  prompts: list.optional(),
  resources: z.looseObject({ listChanged: z.boolean().optional(), subscribe: z.boolean().optional() }).optional(),
  tools: list.optional(),
})
