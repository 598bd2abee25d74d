import { readFileSync } from 'node:fs'
import * as z from 'zod'

const person = z.object({ displayName: z.string(), uniqueName: z.string() })
const field = z.object({
  referenceName: z.string(),
  name: z.string(),
  type: z.enum(['string', 'integer', 'double', 'html', 'dateTime', 'identity']),
  readOnly: z.boolean().default(false),
  alwaysRequired: z.boolean().default(false),
  allowedValues: z.array(z.string()).default([]),
})
const type = z.object({
  name: z.string(),
  referenceName: z.string(),
  states: z.array(z.string()),
  fields: z.array(field),
  /** The rules in the service's format, which are sent unchanged. */
  rules: z.array(z.record(z.string(), z.unknown())),
})
const process = z.object({
  id: z.string(),
  name: z.string(),
  people: z.array(person),
  fields: z.array(field),
  types: z.array(type),
})
const workItem = z.object({
  id: z.number().int(),
  rev: z.number().int(),
  fields: z.record(z.string(), z.unknown()),
  relations: z.array(z.object({ rel: z.string(), target: z.number().int() })).default([]),
})

/** A field of the process. */
export type SeedField = z.infer<typeof field>
/** A work item type of the process, with its rules. */
export type SeedType = z.infer<typeof type>
/** The process: its people, its work item types and their rules. */
export type SeedProcess = z.infer<typeof process>
/** A work item in the emulator's store. */
export type SeedWorkItem = z.infer<typeof workItem>

/** The initial data of the emulator. */
export interface Seed {
  readonly process: SeedProcess
  readonly workItems: readonly SeedWorkItem[]
}

/** Reads the process and the work items from the folder `data` of the application. */
export function readSeed(): Seed {
  return { process: process.parse(readJson('process')), workItems: z.array(workItem).parse(readJson('work-items')) }
}

function readJson(name: string): unknown {
  // The relative path is the same from the source and from the build.
  return JSON.parse(readFileSync(new URL(`../../data/${name}.json`, import.meta.url), 'utf8'))
}
