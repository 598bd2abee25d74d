import * as z from 'zod'
import type { Rule } from '../rules/rule.ts'

/** The accepted values of a work item type's field. */
export interface FieldDefinition {
  readonly name: string
  /** The values of its pick list; empty when anything of its type goes. */
  readonly allowedValues: readonly string[]
}

/** A work item type of the project's process. */
export interface WorkItemType {
  readonly rules: readonly Rule[]
  /** By reference name. */
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

/** The fields of a work item type, from the service's JSON; throws `ZodError`. */
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

/** The id of a project's process, from the project's JSON; throws `ZodError`. */
export function parseProcessId(value: unknown): string {
  return wireProject.parse(value).capabilities.processTemplate.templateTypeId
}

const wireTypes = z.object({ value: z.array(z.object({ name: z.string(), referenceName: z.string() })) })

/** The reference name of a work item type in its process, which is needed to ask for its rules; throws `ZodError`. */
export function parseTypeReference(value: unknown, name: string): string | undefined {
  return wireTypes.parse(value).value.find((type) => type.name === name)?.referenceName
}
