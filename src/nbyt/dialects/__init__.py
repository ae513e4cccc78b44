"""Other libraries' words for N, T, batch, mini-batch and epoch, as data; no JAX."""

from nbyt.dialects.comparing import Comparison as Comparison
from nbyt.dialects.comparing import compare as compare
from nbyt.dialects.dialect import Dialect as Dialect
from nbyt.dialects.dialect import load as load
from nbyt.dialects.dialect import names as names
from nbyt.dialects.explaining import Explanation as Explanation
from nbyt.dialects.explaining import explain as explain
from nbyt.dialects.translating import Translation as Translation
from nbyt.dialects.translating import translate as translate
