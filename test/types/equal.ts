/** `true` if two types are the same, not only assignable. Use: `const same: Equal<A, B> = true`. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
