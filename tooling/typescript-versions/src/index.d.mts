/** The path of each `tsc`, by its version; Node runs it. */
export declare const compilers: ReadonlyMap<string, string>
