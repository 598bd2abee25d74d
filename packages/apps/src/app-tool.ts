import { checkArgument } from '@x/core'
import {
  type AnySchema,
  type CallerInput,
  type CallerOutput,
  type RawShape,
  type Tool,
  tool,
  type ToolDefinition,
  type VisibleTo,
} from '@x/server'
import { DefinitionError, type ToolTypes, type TypeCarrier } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { appsIdentifier } from './identifiers.ts'
import { type AppCsp, isOrigin } from './page-policy.ts'
import { showsPages } from './shows-pages.ts'

/** A feature of the browser that a page asks the host for. A host may refuse it. */
export type AppPermission = 'camera' | 'microphone' | 'geolocation' | 'clipboardWrite'

/** A page that a host shows in a sandboxed frame (extensions/apps, UI resource format). */
export interface AppPage {
  /** HTML document, or a function that returns it, such as `pageFile('page.html')` of `@x/apps/node`. */
  readonly html: string | (() => string | Promise<string>)
  /** Origins that the page uses. Default: none, so scripts and styles must be inside the document. */
  readonly csp?: AppCsp | undefined
  readonly permissions?: readonly AppPermission[] | undefined
  /** Origin at which the host serves the page, in the form that the host requires. Default: the host decides. */
  readonly domain?: string | undefined
  /** True asks for a border and a background around the page, false for none. Default: the host decides. */
  readonly prefersBorder?: boolean | undefined
}

/** Who calls a tool: the model, or the pages of the same server. */
export type AppVisibility = 'model' | 'app'

/** Defines a tool with a page. */
export type AppToolDefinition<
  Input extends AnySchema | RawShape | undefined,
  Output extends AnySchema | RawShape | undefined,
> = ToolDefinition<Input, Output> & {
  /** Shows the result: a page, or another tool whose page does. */
  readonly page: AppPage | AppTool
  /** Default: the model and pages. A tool that only pages may call is hidden from hosts that show no pages. */
  readonly visibility?: readonly AppVisibility[] | undefined
}

/** A tool with a page, as {@link appTool} makes it. */
export interface AppTool<Name extends string = string, Input = unknown, Output = unknown>
  extends Tool<Name, Input, Output> {
  readonly page: ServedPage
}

/** A page with the URI of its resource. */
export interface ServedPage extends AppPage {
  readonly uri: string
  /** Name of the tool that the page was defined with. */
  readonly name: string
}

/**
 * Defines a tool whose result a host shows in a page. A host without pages shows the content of the result, as for any
 * tool. The server needs the extension {@link apps}.
 *
 * @throws DefinitionError for an origin of `csp` that is not a host after `https://`, `http://`, `wss://` or `ws://`,
 * perhaps with `*.` and a port, and for an empty or unknown visibility.
 *
 * @example
 * const weather = appTool('weather', {
 *   description: 'Shows the weather of a city',
 *   input: z.object({ city: z.string() }),
 *   output: z.object({ celsius: z.number() }),
 *   page: { html: pageFile(new URL('weather.html', import.meta.url)) },
 *   run: async ({ city }) => ({ celsius: await measure(city) }),
 * })
 */
export function appTool<
  const Name extends string,
  Input extends AnySchema | RawShape | undefined = undefined,
  Output extends AnySchema | RawShape | undefined = undefined,
>(name: Name, given: AppToolDefinition<Input, Output>): AppTool<Name, CallerInput<Input>, CallerOutput<Output>> {
  checkArgument(given, { where: 'appTool', takes: 'a name and a definition with page', needs: ['page'] })
  const { page, visibility, ...definition } = given
  const servedPage = 'definition' in page ? page.page : { ...page, uri: `ui://${name}/page.html`, name }
  checkPage(servedPage)
  checkVisibility(name, visibility)
  const ui = { resourceUri: servedPage.uri, ...(visibility && { visibility }) }
  const appDefinition: ToolDefinition<Input, Output> = {
    ...definition,
    meta: { ...definition.meta, ui },
    needsExtension: appsIdentifier,
    visibleTo:
      visibility && !visibility.includes('model') ? visibleToPages(definition.visibleTo) : definition.visibleTo,
  }
  return { ...tool(name, appDefinition), page: servedPage }
}

function visibleToPages(visibleTo: VisibleTo | undefined): VisibleTo {
  return (principal, call) => showsPages(call) && (visibleTo?.(principal, call) ?? true)
}

function checkPage({ name, csp = {} }: ServedPage): void {
  for (const [list, origins] of Object.entries(csp)) {
    const wrongOrigin = (origins ?? []).find((origin: string) => !isOrigin(origin))
    if (wrongOrigin === undefined) continue
    const reason = `csp.${list} has ${JSON.stringify(wrongOrigin)}; write an origin, such as "https://api.example.com"`
    throw new DefinitionError('value', `page of tool "${name}"`, { reason })
  }
}

const visibilities: readonly string[] = ['model', 'app'] satisfies AppVisibility[]

function checkVisibility(name: string, visibility: readonly AppVisibility[] | undefined): void {
  if (visibility === undefined) return
  if (visibility.length > 0 && visibility.every((each) => visibilities.includes(each))) return
  throw new DefinitionError('value', `tool "${name}"`, { reason: 'visibility must be a list of "model" and "app"' })
}

/** `_meta.ui` of a page's resource (extensions/apps, UI resource format). */
export function pageMeta({ csp, permissions, domain, prefersBorder }: AppPage): JsonObject {
  return {
    ...(csp && { csp: { ...csp } }),
    ...(permissions && { permissions: Object.fromEntries(permissions.map((permission) => [permission, {}])) }),
    ...(domain !== undefined && { domain }),
    ...(prefersBorder !== undefined && { prefersBorder }),
  }
}

/**
 * Type of the structured content of a tool's result, for the script of its page.
 *
 * @example
 * import type { weather } from './server.ts'
 * type Weather = ResultOf<typeof weather>
 */
export type ResultOf<T extends TypeCarrier<ToolTypes>> =
  T extends TypeCarrier<ToolTypes<unknown, infer Output>> ? Output : never
