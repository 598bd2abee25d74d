import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitResult,
  Root,
} from '@x/schema'

/** Return it at once, or as a promise. */
export type Awaitable<T> = T | Promise<T>

/**
 * What the user answered. Absent fields of the content get the schema's defaults; a field with the value `undefined`
 * stays empty (client/elicitation, response actions).
 */
export interface ElicitAnswer {
  readonly action: ElicitResult['action']
  /** Values of the form, sent only if the action is `accept`. */
  readonly content?: { readonly [field: string]: string | number | boolean | readonly string[] | undefined } | undefined
}

/** Which question a handler answers, and for which call. */
export interface InputContext {
  /** The server's key of this question within the round. */
  readonly key: string
  /** Method of the waiting call. */
  readonly method: string
  /** Its tool, prompt or resource. */
  readonly target: string | undefined
  /** Which response contained the question: 1 for the call's first. */
  readonly round: number
  /** Aborts when the answer is no longer needed; close your dialog then. */
  readonly signal: AbortSignal
  /**
   * The server's address, and its name as it claims it. Show them to the user. Behind a gateway they are the gateway's,
   * and {@link InputContext.target} begins with the name of the server.
   */
  readonly server?: string | undefined
}

/**
 * Answer what servers ask during a call (basic/patterns/mrtr). With each handler the client declares the capability for
 * it. All handlers of one round are called at once, and an error from any of them fails the call.
 */
export interface InputHandlers {
  /** Shows a form; declares `elicitation.form` (client/elicitation, form mode). */
  readonly elicit?: ((question: ElicitRequestFormParams, context: InputContext) => Awaitable<ElicitAnswer>) | undefined
  /**
   * Shows a URL in full, and opens it outside this program once the user agrees. Declares `elicitation.url`. You get
   * only `https:` URLs, or `http:` ones of this machine, without credentials and with an ASCII host (Punycode). Never
   * fetch the URL yourself (client/elicitation, safe URL handling).
   */
  readonly openUrl?: ((question: ElicitRequestURLParams, context: InputContext) => Awaitable<ElicitAnswer>) | undefined
  /** Samples a model; declares `sampling` (client/sampling). Deprecated by the specification. */
  readonly sample?:
    | ((params: CreateMessageRequestParams, context: InputContext) => Awaitable<CreateMessageResult>)
    | undefined
  /**
   * Lists the roots; declares `roots` (client/roots). Deprecated by the specification. A server of an earlier revision
   * may ask outside of a call: `method` is then `initialize`, and `round` is 0.
   */
  readonly roots?: ((context: InputContext) => Awaitable<readonly Root[]>) | undefined
}

/** What one call declares: the capabilities in the options of client and call, and those of both's handlers. */
export function declaredCapabilities(
  clientOptions: InputHandlers & { readonly capabilities?: ClientCapabilities | undefined },
  callOptions: typeof clientOptions,
): ClientCapabilities {
  return withHandlerCapabilities(
    mergeClientCapabilities(clientOptions.capabilities, callOptions.capabilities),
    mergeHandlers(clientOptions, callOptions),
  )
}

function mergeClientCapabilities(
  clientCapabilities: ClientCapabilities = {},
  callCapabilities: ClientCapabilities = {},
): ClientCapabilities {
  const { extensions, experimental, ...otherCapabilities } = callCapabilities
  return {
    ...clientCapabilities,
    ...otherCapabilities,
    ...(extensions && { extensions: { ...clientCapabilities.extensions, ...extensions } }),
    ...(experimental && { experimental: { ...clientCapabilities.experimental, ...experimental } }),
  }
}

function withHandlerCapabilities(declaration: ClientCapabilities, handlers: InputHandlers): ClientCapabilities {
  const { elicit, openUrl, sample, roots } = handlers
  return {
    ...declaration,
    ...((elicit || openUrl) && { elicitation: elicitationModesOf(declaration.elicitation, handlers) }),
    ...(sample && { sampling: declaration.sampling ?? {} }),
    ...(roots && { roots: declaration.roots ?? {} }),
  }
}

type ElicitationCapability = NonNullable<ClientCapabilities['elicitation']>

function elicitationModesOf(
  declaration: ElicitationCapability | undefined,
  { elicit, openUrl }: InputHandlers,
): ElicitationCapability {
  // `elicitation` without modes means forms. When a handler adds the mode `url`, the mode `form` must be added too, or
  // that meaning is lost.
  const impliesForm = declaration !== undefined && declaration.form === undefined && declaration.url === undefined
  return {
    ...declaration,
    ...((elicit || impliesForm) && { form: declaration?.form ?? {} }),
    ...(openUrl && { url: declaration?.url ?? {} }),
  }
}

/** Handlers of the call replace those of the client. */
export function mergeHandlers(clientHandlers: InputHandlers, callHandlers: InputHandlers): InputHandlers {
  return {
    elicit: callHandlers.elicit ?? clientHandlers.elicit,
    openUrl: callHandlers.openUrl ?? clientHandlers.openUrl,
    sample: callHandlers.sample ?? clientHandlers.sample,
    roots: callHandlers.roots ?? clientHandlers.roots,
  }
}

/** True if a call has handlers of its own, and may therefore declare more than its client. */
export function hasHandlers({ elicit, openUrl, sample, roots }: InputHandlers): boolean {
  return Boolean(elicit ?? openUrl ?? sample ?? roots)
}
