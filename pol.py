from dreams.models import *
from dreams.services import policies
print([n for n in dir(policies) if not n.startswith("_")])
print([f.name for f in Policy._meta.fields])
