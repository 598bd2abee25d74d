import type { Client } from './client.ts'
import type { Prompt, Resource, ResourceTemplate, Tool } from '@x/schema'
import { withSafeIcons, type ToolIndex } from './tools/tool-index.ts'
import { createList, type List, type ListContext } from './request/lists.ts'
import type { ListFetchers } from './subscriptions/fresh-lists.ts'

/** The lists of a server's tools, prompts, resources and resource templates. */
export interface OfferedLists {
  readonly tools: List<Tool>
  readonly prompts: List<Prompt>
  readonly resources: List<Resource>
  readonly templates: List<ResourceTemplate>
}

/**
 * Returns a function that returns the lists of one client, and creates them at its first call. Listed tools are added
 * to the index.
 */
export function createOfferedLists(context: ListContext, toolIndex: ToolIndex): () => OfferedLists {
  let lists: OfferedLists | undefined
  return () =>
    (lists ??= {
      tools: createList({ method: 'tools/list', itemsOf: toolIndex.addPage, keyOf: ({ name }) => name }, context),
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
    })
}

type ListCalls = Pick<
  Client,
  | 'eachTool'
  | 'listTools'
  | 'eachPrompt'
  | 'listPrompts'
  | 'eachResource'
  | 'listResources'
  | 'eachResourceTemplate'
  | 'listResourceTemplates'
>

/** Returns the calls of a client that read its lists. */
export function createListCalls(getLists: () => OfferedLists): ListCalls {
  return {
    eachTool: (options) => getLists().tools.each(options),
    listTools: (options) => getLists().tools.toArray(options),
    eachPrompt: (options) => getLists().prompts.each(options),
    listPrompts: (options) => getLists().prompts.toArray(options),
    eachResource: (options) => getLists().resources.each(options),
    listResources: (options) => getLists().resources.toArray(options),
    eachResourceTemplate: (options) => getLists().templates.each(options),
    listResourceTemplates: (options) => getLists().templates.toArray(options),
  }
}

/** Returns the functions that read whole lists, by method. */
export function createListFetchers({ tools, prompts, resources, templates }: OfferedLists): ListFetchers {
  return {
    'tools/list': tools.toArray,
    'prompts/list': prompts.toArray,
    'resources/list': resources.toArray,
    'resources/templates/list': templates.toArray,
  }
}
