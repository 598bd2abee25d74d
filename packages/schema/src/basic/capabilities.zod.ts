import * as z from 'zod/mini'
import type { CapabilitySettings, ClientCapabilities, ListCapability, ServerCapabilities } from './capabilities.ts'
import { jsonObject } from './json.zod.ts'

const settings: z.ZodMiniType<CapabilitySettings> = z.record(z.string(), jsonObject)

/** Validates {@link ClientCapabilities}. */
export const clientCapabilities: z.ZodMiniType<ClientCapabilities> = z.looseObject({
  elicitation: z.optional(z.looseObject({ form: z.optional(jsonObject), url: z.optional(jsonObject) })),
  experimental: z.optional(settings),
  extensions: z.optional(settings),
  roots: z.optional(jsonObject),
  sampling: z.optional(z.looseObject({ context: z.optional(jsonObject), tools: z.optional(jsonObject) })),
})

const list: z.ZodMiniType<ListCapability> = z.looseObject({ listChanged: z.optional(z.boolean()) })

/** Validates {@link ServerCapabilities}. */
export const serverCapabilities: z.ZodMiniType<ServerCapabilities> = z.looseObject({
  completions: z.optional(jsonObject),
  experimental: z.optional(settings),
  extensions: z.optional(settings),
  logging: z.optional(jsonObject),
  prompts: z.optional(list),
  resources: z.optional(z.looseObject({ listChanged: z.optional(z.boolean()), subscribe: z.optional(z.boolean()) })),
  tools: z.optional(list),
})
