import { isJsonObject, type Tool } from '@x/schema'
import type { CallKind, List, ServerLists } from '../../../src/dev/events.ts'
import { labelFromName } from '@x/client/forms'
import type { Field } from '../forms/field.ts'
import { toolFields } from '../forms/tool-fields.ts'

/** Something that the server offers, and that the page can call. */
export interface Item {
  readonly kind: CallKind
  /** The name, the URI or the URI template. */
  readonly target: string
  readonly label: string
  readonly description: string | undefined
  readonly fields: readonly Field[]
  readonly tool?: Tool
  /** What hosts refuse. */
  readonly warnings: readonly string[]
}

/** A list of the navigation. */
export type ItemGroup = List<Item> & { readonly title: string }

/** Returns what a server offers, by list. Lists that it does not have are left out. */
export function groupItems(lists: ServerLists): readonly ItemGroup[] {
  const { tools, prompts, resources, templates, skills, warnings } = lists
  const groups: readonly ItemGroup[] = [
    {
      title: 'Tools',
      problem: tools.problem,
      items: tools.items.map((tool) => ({
        ...toItem('tool', tool.name, tool),
        fields: isJsonObject(tool.inputSchema) ? toolFields(tool.inputSchema) : [],
        tool,
        warnings: warnings.filter((one) => one.tool === tool.name).map(({ message }) => message),
      })),
    },
    {
      title: 'Prompts',
      problem: prompts.problem,
      items: prompts.items.map((prompt) => ({
        ...toItem('prompt', prompt.name, prompt),
        fields: (prompt.arguments ?? []).map(({ name, description, required = false }) =>
          textField(name, { description, required }),
        ),
      })),
    },
    {
      title: 'Resources',
      problem: resources.problem ?? templates.problem,
      items: [
        ...resources.items.map((resource) => toItem('resource', resource.uri, resource)),
        ...templates.items.map((template) => ({
          ...toItem('template', template.uriTemplate, template),
          fields: Array.from(template.uriTemplate.matchAll(/\{[+#./;?&]?([^}*]+)\*?\}/g), ([, name = '']) =>
            textField(name, { required: true }),
          ),
        })),
      ],
    },
    {
      title: 'Skills',
      problem: skills.problem,
      items: skills.items.map((skill) => toItem('skill', skill.uri, skill)),
    },
  ]
  return groups.filter(({ title, items, problem }) => title === 'Tools' || items.length > 0 || problem !== undefined)
}

function toItem(
  kind: CallKind,
  target: string,
  { name, title, description }: Pick<Tool, 'name' | 'title' | 'description'>,
): Item {
  return { kind, target, label: name, description: description ?? title, fields: [], warnings: [] }
}

function textField(
  name: string,
  options: Pick<Field, 'required'> & { readonly description?: string | undefined },
): Field {
  return { name, label: labelFromName(name), ...options, kind: { type: 'text' }, initial: '' }
}
