/** The types of one tool: the arguments that a caller writes, and the structured content that a caller reads. */
export interface ToolTypes<Input = unknown, Output = unknown> {
  readonly input: Input
  readonly output: Output
}

/** The types of a server's tools, and of the arguments of its prompts, by name. */
export interface ServerTypes {
  readonly tools: { readonly [name: string]: ToolTypes }
  readonly prompts: { readonly [name: string]: unknown }
}

/** Carries types for the compiler. There is no such member at run time. */
export interface Typed<Types> {
  readonly '~types'?: Types | undefined
}

/**
 * The types of a server's tools and prompts, for clients in other programs: of a server, of its type, or of an interface
 * that extends this. Such an interface keeps declarations and editors' hints short. `unknown` where nothing is known.
 *
 * @example
 * export interface Api extends TypesOf<typeof server> {}
 */
export type TypesOf<Source> = '~types' extends keyof Source
  ? Source extends Typed<infer Types>
    ? Types
    : unknown
  : Source extends ServerTypes
    ? Source
    : unknown
