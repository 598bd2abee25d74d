/** The path of Node 20. */
export declare const node20: string
/** The path of Node 22. */
export declare const node22: string
/** The path of Node 24. */
export declare const node24: string
/** The path of Node 18, which no package supports. */
export declare const unsupportedNode: string
