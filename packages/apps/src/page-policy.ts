/**
 * Origins that a page may use, such as `https://api.example.com` or `https://*.example.com`. Without a list, the host
 * blocks all of them (extensions/apps, content security policy).
 */
export interface AppCsp {
  /** Origins of requests: `fetch`, `XMLHttpRequest` and `WebSocket`. */
  readonly connectDomains?: readonly string[] | undefined
  /** Origins of scripts, styles, images, fonts and media. */
  readonly resourceDomains?: readonly string[] | undefined
  /** Origins of frames in the page. */
  readonly frameDomains?: readonly string[] | undefined
  /** Origins of the base URI of the document. */
  readonly baseUriDomains?: readonly string[] | undefined
}

const originPattern = /^(?:https?|wss?):\/\/(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?$/i

/** True for an origin that a policy can contain. */
export function isOrigin(text: string): boolean {
  return originPattern.test(text)
}
