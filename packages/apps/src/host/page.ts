import { decodeBase64 } from '@x/core'
import { type ClientCapabilities, isJsonObject, type JsonValue, type ReadResourceResult, type Tool } from '@x/schema'
import { appsIdentifier, pageMediaType } from '../identifiers.ts'
import { type AppCsp, isOrigin } from '../page-policy.ts'

/** Declared by a client whose host shows pages. Servers offer tools for pages to such clients alone. */
export const appsCapabilities: ClientCapabilities = { extensions: { [appsIdentifier]: { mimeTypes: [pageMediaType] } } }

/** A page as a host shows it. */
export interface HostedPage {
  /** Begins with its policy. */
  readonly html: string
  /** Origins that the page may use. */
  readonly csp: AppCsp
}

/** URI of the page that shows the results of a tool. Undefined for a tool without a page (extensions/apps). */
export function pageUriOf({ _meta }: Pick<Tool, '_meta'>): string | undefined {
  const ui = _meta?.['ui']
  // The second form is that of earlier hosts and servers.
  const uri = (isJsonObject(ui) ? ui['resourceUri'] : undefined) ?? _meta?.['ui/resourceUri']
  return typeof uri === 'string' && uri.startsWith('ui://') ? uri : undefined
}

/** Throws for anything else than a document of the right type. */
export function parsePage(uri: string, { contents }: ReadResourceResult): HostedPage {
  const content = contents.find((each) => each.uri === uri) ?? contents[0]
  if (content?.mimeType !== pageMediaType)
    throw new TypeError(`The resource ${uri} has the type ${content?.mimeType}; a page has ${pageMediaType}`)
  const document = 'text' in content ? content.text : decodeBlob(uri, content.blob)
  const ui = content._meta?.['ui']
  const csp = readCsp(isJsonObject(ui) ? ui['csp'] : undefined)
  const policy = policyOf(csp)
  // A policy in the document applies to what follows it. The first doctype decides the mode of the document.
  const head = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}">`
  return { html: `${head}${document}`, csp }
}

function decodeBlob(uri: string, blob: string): string {
  const bytes = decodeBase64(blob)
  if (bytes === undefined) throw new TypeError(`The resource ${uri} is not well-formed Base64`)
  return new TextDecoder().decode(bytes)
}

function readCsp(csp: JsonValue | undefined): AppCsp {
  const members = isJsonObject(csp) ? csp : {}
  return {
    connectDomains: originsOf(members['connectDomains']),
    resourceDomains: originsOf(members['resourceDomains']),
    frameDomains: originsOf(members['frameDomains']),
    baseUriDomains: originsOf(members['baseUriDomains']),
  }
}

/** Any text but an origin could end a directive of the policy and begin another. */
function originsOf(list: JsonValue | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((each): each is string => typeof each === 'string' && isOrigin(each)) : []
}

/** What the page does not declare is blocked (extensions/apps, host behavior). */
function policyOf({
  connectDomains = [],
  resourceDomains = [],
  frameDomains = [],
  baseUriDomains = [],
}: AppCsp): string {
  const resources = resourceDomains.join(' ')
  const directives = [
    ['default-src', "'none'"],
    ['script-src', `'unsafe-inline' ${resources}`],
    ['style-src', `'unsafe-inline' ${resources}`],
    ['img-src', `data: ${resources}`],
    ['font-src', `data: ${resources}`],
    ['media-src', `data: ${resources}`],
    ['connect-src', connectDomains.join(' ') || "'none'"],
    ['frame-src', frameDomains.join(' ') || "'none'"],
    ['base-uri', baseUriDomains.join(' ') || "'none'"],
    ['object-src', "'none'"],
    ['form-action', "'none'"],
  ]
  return directives.map((directive) => directive.join(' ').trim()).join('; ')
}
