import * as z from 'zod'
import type { Rule } from '../rules/rule.ts'

/** The definition of a field in a work item type. */
export interface FieldDefinition {
  readonly name: string
  /** The values of its pick list; empty if any value of the field's type is allowed. */
  readonly allowedValues: readonly string[]
}

/** A work item type of the project's process. */
export interface WorkItemType {
  readonly rules: readonly Rule[]
  /** The definitions by reference name. */
  readonly fields: ReadonlyMap<string, FieldDefinition>
}

const wireFields = z.object({
  value: z.array(
    z.object({
      referenceName: z.string(),
      name: z.string().catch(''),
      allowedValues: z.array(z.union([z.string(), z.number()])).catch([]),
    }),
  ),
})

/** Parses the field definitions of a work item type from JSON. Throws `ZodError`. */
export function parseFieldDefinitions(value: unknown): ReadonlyMap<string, FieldDefinition> {
  return new Map(
    wireFields
      .parse(value)
      .value.map((field) => [
        field.referenceName,
        { name: field.name, allowedValues: field.allowedValues.map(String) },
      ]),
  )
}

const wireProject = z.object({
  capabilities: z.object({ processTemplate: z.object({ templateTypeId: z.string() }) }),
})

/** Parses the id of the project's process from the project's JSON. Throws `ZodError`. */
export function parseProcessId(value: unknown): string {
  return wireProject.parse(value).capabilities.processTemplate.templateTypeId
}

const wireTypes = z.object({ value: z.array(z.object({ name: z.string(), referenceName: z.string() })) })

/** Parses the reference name of a work item type, which the request for its rules needs. Throws `ZodError`. */
export function parseTypeReference(value: unknown, name: string): string | undefined {
  return wireTypes.parse(value).value.find((type) => type.name === name)?.referenceName
}
