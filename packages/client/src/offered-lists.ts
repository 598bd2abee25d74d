import type { Prompt, Resource, ResourceTemplate, Tool } from '@x/schema'
import { withSafeIcons, type ToolIndex } from './tools/tool-index.ts'
import { createList, type List, type ListContext } from './request/lists.ts'
import type { ListFetchers } from './subscriptions/fresh-lists.ts'

/** The lists of a server's offers. */
export interface OfferedLists {
  readonly tools: List<Tool>
  readonly prompts: List<Prompt>
  readonly resources: List<Resource>
  readonly templates: List<ResourceTemplate>
}

/** Creates the lists of one client; tools pass through its index. */
export function createOfferedLists(context: ListContext, index: ToolIndex): OfferedLists {
  return {
    tools: createList({ method: 'tools/list', itemsOf: index.addPage, keyOf: ({ name }) => name }, context),
    prompts: createList(
      { method: 'prompts/list', itemsOf: (page) => page.prompts.map(withSafeIcons), keyOf: ({ name }) => name },
      context,
    ),
    resources: createList(
      { method: 'resources/list', itemsOf: (page) => page.resources.map(withSafeIcons), keyOf: ({ uri }) => uri },
      context,
    ),
    templates: createList(
      {
        method: 'resources/templates/list',
        itemsOf: (page) => page.resourceTemplates.map(withSafeIcons),
        keyOf: ({ uriTemplate }) => uriTemplate,
      },
      context,
    ),
  }
}

/** Returns the functions that read whole lists, by method. */
export function listFetchers({ tools, prompts, resources, templates }: OfferedLists): ListFetchers {
  return {
    'tools/list': tools.all,
    'prompts/list': prompts.all,
    'resources/list': resources.all,
    'resources/templates/list': templates.all,
  }
}
