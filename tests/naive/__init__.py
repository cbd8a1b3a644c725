"""A second engine of Tonk, written from the rules alone: slow, plain, and sharing no code with `tonk_env`.

Its worth is its independence. It is compared step by step with the compiled engine, so nothing in this
package may import or copy from `tonk_env`.
"""
