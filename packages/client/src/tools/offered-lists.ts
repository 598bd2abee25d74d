import type { Log } from '@x/core'
import type { Prompt, Resource, ResourceTemplate, Tool } from '@x/schema'
import type { ReadOptions } from '../request/call-options.ts'
import { createToolIndex, type ToolIndex, withSafeIcons } from './tool-index.ts'
import { createList, type List, type ListContext } from '../request/lists.ts'
import type { ListFetchers } from '../subscriptions/fresh-lists.ts'

export interface OfferedLists {
  readonly tools: List<Tool>
  readonly prompts: List<Prompt>
  readonly resources: List<Resource>
  readonly templates: List<ResourceTemplate>
}

/** Creates one client's lists at the first call of the returned function. Listed tools join the index. */
export function createOfferedLists(
  context: ListContext,
  log: Log,
): { readonly toolIndex: ToolIndex; readonly getLists: () => OfferedLists } {
  const toolIndex = createToolIndex(log)
  let lists: OfferedLists | undefined
  const getLists = (): OfferedLists =>
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
  return { toolIndex, getLists }
}

/**
 * Calls that read a server's lists page by page. A list is empty if the server does not have its method. Each call
 * rejects with `ClientError` `endless_list` for more than 1,000 pages, a repeated cursor, or more than 16,777,216
 * characters after the first page. Icons with unsafe URLs are removed. Items that are not of their type are left out, and
 * logged as `item_refused`; so are tools with invalid `x-mcp-header` annotations, as `tool_refused`.
 */
export interface ListCalls {
  eachTool(options?: ReadOptions): AsyncIterable<Tool>
  listTools(options?: ReadOptions): Promise<Tool[]>
  eachPrompt(options?: ReadOptions): AsyncIterable<Prompt>
  listPrompts(options?: ReadOptions): Promise<Prompt[]>
  eachResource(options?: ReadOptions): AsyncIterable<Resource>
  listResources(options?: ReadOptions): Promise<Resource[]>
  eachResourceTemplate(options?: ReadOptions): AsyncIterable<ResourceTemplate>
  listResourceTemplates(options?: ReadOptions): Promise<ResourceTemplate[]>
}

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

/** Reads whole lists, by method. */
export function createListFetchers({ tools, prompts, resources, templates }: OfferedLists): ListFetchers {
  return {
    'tools/list': tools.toArray,
    'prompts/list': prompts.toArray,
    'resources/list': resources.toArray,
    'resources/templates/list': templates.toArray,
  }
}
