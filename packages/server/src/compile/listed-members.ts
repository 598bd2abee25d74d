import type {
  Prompt as ListedPrompt,
  Resource as ListedResource,
  ResourceTemplate as ListedTemplate,
  Tool as ListedTool,
} from '@x/schema'
import type { BaseDefinition } from '../definitions/base-definition.ts'
import type { AnyPromptDefinition } from '../definitions/prompt.ts'
import type { AnyTemplateDefinition, ResourceDefinition, ResourceDescription } from '../definitions/resource.ts'
import type { AnyToolDefinition } from '../definitions/tool.ts'

/** Names of members in other libraries and in the protocol, each with the name here. */
export const foreignMemberNames = { inputSchema: 'input', outputSchema: 'output', argsSchema: 'input' } as const

/**
 * Each member of a definition with its name in the lists that clients read. False for one that the server alone uses,
 * or from which it computes something else.
 */
type ListedNames<Definition, Entry> = Readonly<
  Record<Exclude<keyof Definition, keyof typeof foreignMemberNames>, keyof Entry | false>
>

const baseMembers = {
  title: 'title',
  icons: 'icons',
  meta: '_meta',
  requires: false,
  needsExtension: false,
  visibleTo: false,
} satisfies ListedNames<BaseDefinition, ListedTool>

export const toolMembers = {
  ...baseMembers,
  description: 'description',
  annotations: 'annotations',
  input: false,
  maxArgumentElements: false,
  output: false,
  task: false,
  keyedEffects: false,
  run: false,
  // Each member of a definition has its name in `tools/list` here, or false if the server alone uses it.
} satisfies ListedNames<AnyToolDefinition, ListedTool>

export const promptMembers = {
  ...baseMembers,
  description: 'description',
  input: false,
  complete: false,
  run: false,
} satisfies ListedNames<AnyPromptDefinition, ListedPrompt>

const descriptionMembers = {
  ...baseMembers,
  name: 'name',
  description: 'description',
  mimeType: 'mimeType',
  annotations: 'annotations',
  cache: false,
} satisfies ListedNames<ResourceDescription, ListedTemplate>

export const resourceMembers = {
  ...descriptionMembers,
  size: 'size',
  read: false,
} satisfies ListedNames<ResourceDefinition, ListedResource>

export const templateMembers = {
  ...descriptionMembers,
  complete: false,
  list: false,
  read: false,
} satisfies ListedNames<AnyTemplateDefinition, ListedTemplate>

/** All members' names. One of another kind of definition is no misspelling, and does no harm. */
export const memberNames: Readonly<Record<string, true>> = Object.fromEntries(
  [toolMembers, promptMembers, resourceMembers, templateMembers].flatMap((members) =>
    Object.keys(members).map((name) => [name, true]),
  ),
)

/** Picks the part of a definition that clients read in a list. */
export function toListedMembers(definition: object, members: ListedNames<object, object>): object {
  const values = new Map<string, unknown>(Object.entries(definition))
  const listed = Object.entries<string | false>(members).flatMap(([name, listedName]) =>
    listedName === false ? [] : [[listedName, values.get(name)]],
  )
  return Object.fromEntries(listed)
}
